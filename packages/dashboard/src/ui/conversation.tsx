/** One session: its messages, what it needs one to know, and the composer. */
import type { WireStatus } from "@holdfast/gateway/wire";
import { type ReactNode, useMemo, useRef } from "react";
import type { View } from "../live/board.ts";
import type { Live } from "../live/live.ts";
import type { Text } from "../text/en.ts";
import type { Row } from "../view/rows.ts";
import { nextStep } from "../view/story.ts";
import { Announcer } from "./announcer.tsx";
import { Composer } from "./composer.tsx";
import { useText } from "./context.tsx";
import { EmptyState } from "./empty-state.tsx";
import { RehearsalBanner } from "./rehearsal-banner.tsx";
import { type RowActions, RowView } from "./rows.tsx";
import { useDraft } from "./use-draft.ts";
import { useReadingPlace } from "./use-reading-place.ts";

interface ConversationProps {
  readonly live: Live;
  readonly view: View;
  readonly rows: readonly Row[];
  readonly status: WireStatus;
}

export function Conversation({ live, view, rows, status }: ConversationProps): ReactNode {
  const text = useText();
  const field = useRef<HTMLTextAreaElement>(null);
  const [draft, setDraft] = useDraft(live.key);
  const place = useReadingPlace(rows);
  const actions = useMemo(() => rowActions(live, setDraft, field), [live, setDraft]);
  const say = (words: string): void => {
    if (words.trim() === "") return;
    live.send(words.trim());
    place.toEnd();
    field.current?.focus();
  };
  const sendDraft = (): void => {
    say(draft);
    setDraft("");
  };
  const suggestion = nextStep(rows, text);
  const busy = view.state.running && view.connection === "live";
  return (
    <>
      <div className="scroll" ref={place.scroller} onScroll={place.onScroll}>
        <div className="column">
          {status.rehearsal && <RehearsalBanner />}
          <Messages rows={rows} view={view} actions={actions} onOlder={() => void live.older()} onTry={say} />
          {suggestion !== null && draft === "" && <Suggestion words={suggestion} onTry={say} />}
        </div>
      </div>
      <div className="dock">
        {place.hasNews && (
          <button type="button" className="news" onClick={place.toEnd}>
            {text.newBelow} <span aria-hidden="true">↓</span>
          </button>
        )}
        <ConnectionLine view={view} onTryNow={() => live.tryNow()} />
        <Composer draft={draft} busy={busy} field={field} onDraft={setDraft} onSend={sendDraft} />
      </div>
      <Announcer rows={rows} loaded={view.state.loaded} />
    </>
  );
}

type FieldRef = { readonly current: HTMLTextAreaElement | null };

function rowActions(live: Live, setDraft: (draft: string) => void, field: FieldRef): RowActions {
  return {
    again: (trouble) => {
      if (trouble.kind === "not-sent") live.resend(trouble.outgoing);
      else live.send(trouble.text);
    },
    takeBack: (trouble) => {
      if (trouble.kind !== "not-sent") return;
      live.discard(trouble.outgoing.clientKey);
      setDraft(trouble.outgoing.text);
      field.current?.focus();
    },
  };
}

interface MessagesProps {
  readonly rows: readonly Row[];
  readonly view: View;
  readonly actions: RowActions;
  readonly onOlder: () => void;
  readonly onTry: (words: string) => void;
}

function Messages({ rows, view, actions, onOlder, onTry }: MessagesProps): ReactNode {
  const text = useText();
  if (!view.state.loaded && rows.length === 0) return <p className="quiet opening">{text.loading}</p>;
  if (rows.length === 0) return <EmptyState onTry={onTry} />;
  return (
    <section className="messages" aria-label={text.conversation}>
      {view.state.more !== null && (
        <button type="button" className="older" onClick={onOlder}>
          {text.older}
        </button>
      )}
      {rows.map((row) => (
        <RowView key={row.id} row={row} actions={actions} />
      ))}
    </section>
  );
}

function Suggestion({ words, onTry }: { readonly words: string; readonly onTry: (w: string) => void }): ReactNode {
  return (
    <p className="suggestion">
      <span>{useText().next}</span>
      <button type="button" onClick={() => onTry(words)}>
        {words}
      </button>
    </p>
  );
}

/** Says what the connection does while it does not simply work. */
function ConnectionLine({ view, onTryNow }: { readonly view: View; readonly onTryNow: () => void }): ReactNode {
  const text = useText();
  const words = connectionWords(view, text);
  return (
    <p className="connection" role="status" data-state={view.connection} hidden={words === ""}>
      {words}
      {view.connection === "reconnecting" && (
        <button type="button" onClick={onTryNow}>
          {text.tryNow}
        </button>
      )}
    </p>
  );
}

function connectionWords(view: View, text: Text): string {
  if (view.refusal !== null) return text.refused(view.refusal);
  if (view.connection === "offline") return text.offline;
  return view.connection === "reconnecting" ? text.reconnecting : "";
}
