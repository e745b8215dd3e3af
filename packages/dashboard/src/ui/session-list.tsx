/** The sessions on the left: name, where it comes from, when somebody last spoke. */
import type { WireSession } from "@holdfast/gateway/wire";
import type { ReactNode } from "react";
import { sessionTitle } from "../view/session-title.ts";
import { addressOf } from "./address.ts";
import { useText } from "./context.tsx";
import { Time } from "./time.tsx";

interface SessionListProps {
  readonly sessions: readonly WireSession[];
  readonly current: string;
  readonly onPick: () => void;
}

export function SessionList({ sessions, current, onPick }: SessionListProps): ReactNode {
  const text = useText();
  return (
    <nav className="sessions" id="sessions" aria-label={text.sessions}>
      <h2>{text.sessions}</h2>
      <ul>
        {sessions.map((session) => (
          <li key={session.key}>
            <a
              href={addressOf(session.key)}
              aria-current={session.key === current ? "page" : undefined}
              onClick={onPick}
            >
              <span className="session-title">{sessionTitle(session, text)}</span>
              <span className="session-when">
                <SessionTime session={session} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function SessionTime({ session }: { readonly session: WireSession }): ReactNode {
  const at = session.lastInteractionAt ?? session.updatedAt;
  return at === null ? null : <Time at={at} style="narrow" />;
}
