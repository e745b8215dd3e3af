/** An empty conversation teaches by two things one can click. */
import type { ReactNode } from "react";
import { useText } from "./context.tsx";
import { Mark } from "./signs.tsx";

export function EmptyState({ onTry }: { readonly onTry: (words: string) => void }): ReactNode {
  const { empty } = useText();
  return (
    <section className="empty">
      <Mark />
      <h2>{empty.title}</h2>
      <p>{empty.lead}</p>
      <ol>
        <Example words={empty.first} why={empty.firstWhy} onTry={onTry} />
        <Example words={empty.second} why={empty.secondWhy} onTry={onTry} />
      </ol>
    </section>
  );
}

interface ExampleProps {
  readonly words: string;
  readonly why: string;
  readonly onTry: (words: string) => void;
}

function Example({ words, why, onTry }: ExampleProps): ReactNode {
  return (
    <li>
      <button type="button" onClick={() => onTry(words)}>
        <span className="example-words">{words}</span>
        <span className="example-why">{why}</span>
      </button>
    </li>
  );
}
