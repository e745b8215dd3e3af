/** A tool call as one line, its sign and time; opening it shows what was asked, what came back and what proves it. */
import type { ReactNode } from "react";
import { duration } from "../text/time.ts";
import type { Call } from "../view/calls.ts";
import { argumentsText, describeCall, evidenceText, signOf } from "../view/describe.ts";
import { useText } from "./context.tsx";
import { VerdictIcon } from "./signs.tsx";

export function CallCard({ call }: { readonly call: Call }): ReactNode {
  const text = useText();
  const sign = signOf(call);
  const worded = sign !== "ok";
  return (
    <details className="call" data-sign={sign}>
      <summary>
        <VerdictIcon sign={sign} />
        <span className="call-line">{describeCall(call, text)}</span>
        {worded && <span className="verdict">{text.verdict[sign]}</span>}
        {call.tookMs !== null && <span className="took">{duration(call.tookMs, text.locale)}</span>}
        <span className="chevron" aria-hidden="true" />
      </summary>
      <CallBody call={call} />
    </details>
  );
}

function CallBody({ call }: { readonly call: Call }): ReactNode {
  const text = useText();
  const asked = argumentsText(call);
  const evidence = evidenceText(call.evidence);
  return (
    <div className="call-body">
      {call.verdict !== null && <p className="verdict-means">{text.verdictMeans[call.verdict]}</p>}
      <Part title={text.call.arguments} body={asked === "" ? text.call.empty : asked} />
      <Part title={text.call.result} body={resultText(call, text.call)} />
      {evidence !== "" && <Part title={text.call.evidence} body={evidence} />}
      {call.attempts > 1 && <p className="attempts">{text.call.attempts(call.attempts)}</p>}
    </div>
  );
}

function resultText(call: Call, words: { readonly noResult: string; readonly empty: string }): string {
  if (call.result === null) return words.noResult;
  return call.result === "" ? words.empty : call.result;
}

function Part({ title, body }: { readonly title: string; readonly body: string }): ReactNode {
  return (
    <section>
      <h4>{title}</h4>
      <pre>{body}</pre>
    </section>
  );
}
