/** The page: signed out, waiting for the gateway, or a conversation with what surrounds it. */
import type { WireStatus } from "@holdfast/gateway/wire";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { browser } from "../browser.ts";
import { Live } from "../live/live.ts";
import { chooseLanguage, chosenLanguage, LANGUAGES, type Language } from "../text/language.ts";
import { rowsOf, unsavedCount } from "../view/rows.ts";
import { sessionTitle } from "../view/session-title.ts";
import { useAddressedSession } from "./address.ts";
import { NowProvider, TextProvider, useText, useView } from "./context.tsx";
import { Conversation } from "./conversation.tsx";
import { LanguageSwitch, type LanguageSwitchProps } from "./language-switch.tsx";
import { SignedOutPage, UnreachablePage } from "./pages.tsx";
import { SessionList } from "./session-list.tsx";
import { RingSign } from "./signs.tsx";
import { useGateway, useSessions } from "./use-gateway.ts";

export function App(): ReactNode {
  const [language, setLanguage] = useState<Language>(() => chosenLanguage(browser.keep, navigator.languages));
  const text = LANGUAGES[language];
  useEffect(() => {
    document.documentElement.lang = text.locale;
  }, [text]);
  const choose = (chosen: Language): void => {
    chooseLanguage(browser.keep, chosen);
    setLanguage(chosen);
  };
  return (
    <TextProvider value={text}>
      <NowProvider>
        <Door language={{ current: language, onChoose: choose }} />
      </NowProvider>
    </TextProvider>
  );
}

function Door({ language }: { readonly language: LanguageSwitchProps }): ReactNode {
  const [gateway, again] = useGateway();
  const addressed = useAddressedSession();
  switch (gateway.kind) {
    case "asking":
      return null;
    case "signed-out":
      return <SignedOutPage language={language} />;
    case "unreachable":
      return <UnreachablePage language={language} />;
    case "ready": {
      const key = addressed ?? gateway.status.defaultSession;
      return <Room key={key} sessionKey={key} status={gateway.status} language={language} onRestart={again} />;
    }
  }
}

interface RoomProps {
  readonly sessionKey: string;
  readonly status: WireStatus;
  readonly language: LanguageSwitchProps;
  /** Told when the gateway was seen to be another process than before. */
  readonly onRestart: () => void;
}

/** One session's page; mounted anew for another session. */
function Room({ sessionKey, status, language, onRestart }: RoomProps): ReactNode {
  const [live] = useState(() => new Live(sessionKey, browser));
  useEffect(() => {
    live.start();
    return () => live.close();
  }, [live]);
  const view = useView(live);
  const { restarts } = view.state;
  useEffect(() => {
    if (restarts.length > 0) onRestart();
  }, [restarts, onRestart]);
  const rows = useMemo(() => rowsOf(view.state), [view.state]);
  const sessions = useSessions(`${view.connection} ${view.state.running}`);
  const [listOpen, setListOpen] = useState(false);
  if (view.connection === "signed-out") return <SignedOutPage language={language} />;
  const many = sessions.length > 1;
  const title = sessions.find((session) => session.key === sessionKey) ?? { key: sessionKey, title: null };
  return (
    <div className="room" data-many={many} data-list-open={listOpen}>
      {many && <SessionList sessions={sessions} current={sessionKey} onPick={() => setListOpen(false)} />}
      {many && listOpen && <Curtain onClose={() => setListOpen(false)} />}
      <main className="chat" data-connection={view.connection}>
        <header className="bar">
          {many && <ListButton open={listOpen} onToggle={() => setListOpen(!listOpen)} />}
          <Heading title={title} model={status.model} />
          <Durability loaded={view.state.loaded} unsaved={unsavedCount(rows)} />
          <LanguageSwitch {...language} />
        </header>
        <Conversation live={live} view={view} rows={rows} status={status} />
      </main>
    </div>
  );
}

function Heading({
  title,
  model,
}: {
  readonly title: { key: string; title: string | null };
  readonly model: string;
}): ReactNode {
  const text = useText();
  const name = sessionTitle(title, text);
  useEffect(() => {
    document.title = `${name} · Holdfast`;
  }, [name]);
  return (
    <div className="heading">
      <h1>{name}</h1>
      <span className="model">{model}</span>
    </div>
  );
}

/** One glance: is everything that was said on disk? */
function Durability({ loaded, unsaved }: { readonly loaded: boolean; readonly unsaved: number }): ReactNode {
  const text = useText();
  if (!loaded) return <span className="durability">{text.connecting}</span>;
  return (
    <span className="durability">
      <RingSign ring={unsaved === 0 ? "saved" : "accepted"} />
      {unsaved === 0 ? text.allSaved : text.notAllSaved(unsaved)}
    </span>
  );
}

function ListButton({ open, onToggle }: { readonly open: boolean; readonly onToggle: () => void }): ReactNode {
  const text = useText();
  const label = open ? text.hideSessions : text.showSessions;
  return (
    <button
      type="button"
      className="list-button"
      aria-expanded={open}
      aria-controls="sessions"
      aria-label={label}
      onClick={onToggle}
    >
      <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
        <path d="M3 6h14M3 10h14M3 14h9" />
      </svg>
    </button>
  );
}

/** Behind the open list on a phone: touching it closes the list. */
function Curtain({ onClose }: { readonly onClose: () => void }): ReactNode {
  return <button type="button" className="curtain" aria-label={useText().hideSessions} onClick={onClose} />;
}
