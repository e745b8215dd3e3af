/** One component per kind of row. */
import type { ReactNode } from "react";
import type { Text } from "../text/en.ts";
import { languageOf } from "../text/language.ts";
import type { AnswerRow, FailureRow, MineRow, Notice, Row, Trouble } from "../view/rows.ts";
import { CallCard } from "./call-card.tsx";
import { useText } from "./context.tsx";
import { Prose } from "./prose.tsx";
import { RingSign } from "./signs.tsx";
import { Time } from "./time.tsx";

/** What a row may ask for. */
export interface RowActions {
  /** Sends a failed message as a new one, or a refused one again. */
  again(trouble: Trouble): void;
  /** Takes a refused message back into the composer. */
  takeBack(trouble: Trouble): void;
}

interface RowProps {
  readonly row: Row;
  readonly actions: RowActions;
}

export function RowView({ row, actions }: RowProps): ReactNode {
  switch (row.kind) {
    case "mine":
      return <Mine row={row} actions={actions} />;
    case "answer":
      return <Answer row={row} />;
    case "call":
      return <CallCard call={row.call} />;
    case "thinking":
      return <Thinking body={row.text} />;
    case "notice":
      return <NoticeView what={row.what} body={row.text} />;
    case "failure":
      return <Failure row={row} actions={actions} />;
    case "restarted":
      return <Restarted at={row.at} />;
    case "draft":
      return <DraftView row={row} />;
    case "working":
      return <Working />;
  }
}

function Mine({ row, actions }: { readonly row: MineRow; readonly actions: RowActions }): ReactNode {
  const text = useText();
  return (
    <article className="mine" aria-label={text.you}>
      <div className="bubble" lang={languageOf(row.text)}>
        {row.text}
      </div>
      <footer>
        {row.waits && <span>{text.waitsItsTurn}</span>}
        {row.at !== null && <Time at={row.at} />}
        <RingSign ring={row.ring} />
      </footer>
      {row.trouble && <TroubleView trouble={row.trouble} actions={actions} />}
    </article>
  );
}

function TroubleView({ trouble, actions }: { readonly trouble: Trouble; readonly actions: RowActions }): ReactNode {
  const text = useText();
  const notSent = trouble.kind === "not-sent";
  return (
    <div className="trouble" role="alert">
      {notSent ? (
        <p>{text.notSent(trouble.reason)}</p>
      ) : (
        <Reason code={trouble.code} said={trouble.reason ?? ""} words={text.failed} />
      )}
      <p className="advice">{notSent ? text.notSentAdvice : text.failedAdvice}</p>
      <div className="trouble-buttons">
        <button type="button" onClick={() => actions.again(trouble)}>
          {text.sendAgain}
        </button>
        {notSent && (
          <button type="button" onClick={() => actions.takeBack(trouble)}>
            {text.takeBack}
          </button>
        )}
      </div>
    </div>
  );
}

interface ReasonProps {
  readonly code: string | null;
  readonly said: string;
  readonly words: (reason: string) => string;
}

/** Why it failed, in the page's language where the code is known, with the provider's own words below. */
function Reason({ code, said, words }: ReasonProps): ReactNode {
  const text = useText();
  const known = code === null ? undefined : knownReason(text, code);
  if (known === undefined) return <p className="reason">{words(said === "" ? text.failedUnknown : said)}</p>;
  const [happened = ""] = said.split("\n", 1);
  return (
    <>
      <p>{words(known)}</p>
      {happened !== "" && (
        <p className="advice" lang={languageOf(happened)}>
          {happened}
        </p>
      )}
    </>
  );
}

function knownReason({ reasons }: Text, code: string): string | undefined {
  return Object.entries(reasons).find(([name]) => name === code)?.[1];
}

function Failure({ row, actions }: { readonly row: FailureRow; readonly actions: RowActions }): ReactNode {
  const text = useText();
  const { again, code } = row;
  return (
    <div className="notice" data-failed="true" role="alert">
      <Reason code={code} said={row.text} words={text.answerFailed} />
      {again !== null && (
        <div className="trouble-buttons">
          <button type="button" onClick={() => actions.again({ kind: "failed", reason: row.text, code, text: again })}>
            {text.sendAgain}
          </button>
        </div>
      )}
    </div>
  );
}

function Restarted({ at }: { readonly at: number }): ReactNode {
  return (
    <p className="restarted">
      {useText().restarted} <Time at={at} />
    </p>
  );
}

function Answer({ row }: { readonly row: AnswerRow }): ReactNode {
  const text = useText();
  return (
    <article className="answer" aria-label={text.assistant} data-saved={row.saved}>
      <Prose text={row.text} />
      {row.at !== null && (
        <footer>
          <Time at={row.at} />
        </footer>
      )}
    </article>
  );
}

function DraftView({ row }: { readonly row: Extract<Row, { kind: "draft" }> }): ReactNode {
  const text = useText();
  const { draft } = row;
  return (
    <article className="draft" aria-label={text.assistant}>
      {draft.thinking !== "" && draft.text === "" && <p className="quiet">{draft.thinking.slice(-240)}</p>}
      {draft.text !== "" && <Prose text={draft.text} />}
      {draft.calls.length > 0 && <p className="quiet">{text.preparing(draft.calls.at(-1) ?? "")}</p>}
      <footer>
        <span className="pulse" aria-hidden="true" />
        {text.provisional}
      </footer>
    </article>
  );
}

function Thinking({ body }: { readonly body: string }): ReactNode {
  return (
    <details className="thinking">
      <summary>{useText().thinking}</summary>
      <p lang={languageOf(body)}>{body}</p>
    </details>
  );
}

function Working(): ReactNode {
  return (
    <p className="working">
      <span className="pulse" aria-hidden="true" />
      {useText().working}
    </p>
  );
}

function NoticeView({ what, body }: { readonly what: Notice; readonly body: string }): ReactNode {
  const line = noticeLine(what, useText());
  return (
    <div className="notice">
      {line !== "" && <p>{line}</p>}
      {(what === "message" || what === "branch-summary") && body !== "" && <Prose text={body} />}
    </div>
  );
}

function noticeLine(what: Notice, text: Text): string {
  switch (what) {
    case "answer-cut":
      return text.answerCut;
    case "answer-aborted":
      return text.answerAborted;
    case "summarised":
      return text.summarised;
    case "branch-summary":
      return text.branchSummary;
    case "message":
      return "";
  }
}
