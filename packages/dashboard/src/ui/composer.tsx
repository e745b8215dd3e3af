/**
 * Where one writes. Enter sends, Shift+Enter breaks the line, and Enter that ends an input method's composition does
 * neither. The draft is kept per session, so a reload loses nothing.
 */
import { type KeyboardEvent, type ReactNode, type RefObject, useLayoutEffect } from "react";
import { useText } from "./context.tsx";

interface ComposerProps {
  readonly draft: string;
  readonly busy: boolean;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly onDraft: (draft: string) => void;
  readonly onSend: () => void;
}

const HEIGHT_MAX_PX = 240;

/** Key code that browsers report for keys an input method has taken (Safari ends the composition before the key). */
const TAKEN_BY_INPUT_METHOD = 229;

function sends(event: KeyboardEvent): boolean {
  const composing = event.nativeEvent.isComposing || event.keyCode === TAKEN_BY_INPUT_METHOD;
  return event.key === "Enter" && !event.shiftKey && !composing;
}

export function Composer({ draft, busy, field, onDraft, onSend }: ComposerProps): ReactNode {
  const text = useText();
  useGrowing(field, draft);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!sends(event)) return;
    event.preventDefault();
    onSend();
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      <div className="composer-box">
        <textarea
          ref={field}
          id="composer"
          rows={1}
          value={draft}
          aria-label={text.composerLabel}
          aria-describedby="composer-hint"
          placeholder={text.composerPlaceholder}
          onChange={(event) => onDraft(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <button type="submit" disabled={draft.trim() === ""} aria-label={text.send} title={text.send}>
          <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
            <path d="M10 16V4.500M5 9l5-5 5 5" />
          </svg>
        </button>
      </div>
      <p id="composer-hint" className="hint">
        {busy ? text.busyHint : text.composerHint}
      </p>
    </form>
  );
}

/** As high as its text, up to a limit. */
function useGrowing(field: RefObject<HTMLTextAreaElement | null>, draft: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the draft's text
  useLayoutEffect(() => {
    const area = field.current;
    if (area === null) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, HEIGHT_MAX_PX)}px`;
  }, [field, draft]);
}
