/** Says plainly that no language model answers here, and how to set one up. */
import type { ReactNode } from "react";
import { useText } from "./context.tsx";

const EXAMPLE = `{
  agents: { defaults: { model: { primary: "openai/gpt-5.2" } } },
  models: { providers: { openai: {
    api: "openai-completions",
    baseUrl: "https://api.openai.com/v1",
    apiKey: "\${OPENAI_API_KEY}",
    models: [{ id: "gpt-5.2", contextWindow: 400000, maxTokens: 16000 }],
  } } },
}`;

export function RehearsalBanner(): ReactNode {
  const { rehearsal } = useText();
  return (
    <details className="rehearsal">
      <summary>
        <span>
          <strong>{rehearsal.title}</strong> {rehearsal.body}
        </span>
        <span className="how">{rehearsal.how}</span>
      </summary>
      <p>{rehearsal.step1}</p>
      <pre>{EXAMPLE}</pre>
      <p>{rehearsal.step2}</p>
    </details>
  );
}
