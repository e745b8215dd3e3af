/**
 * Keeps the reader's place: at the end it follows what is new; anywhere else nothing moves, and what is new is
 * announced at the edge. Older messages that are put in front do not push the page down.
 */
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";
import type { Row } from "../view/rows.ts";

export interface ReadingPlace {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly hasNews: boolean;
  readonly onScroll: () => void;
  readonly toEnd: () => void;
}

const NEAR_END_PX = 80;

export function useReadingPlace(rows: readonly Row[]): ReadingPlace {
  const scroller = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const before = useRef<{ first: string | undefined; last: string | undefined; height: number }>(null);
  const [hasNews, setHasNews] = useState(false);

  const onScroll = useCallback(() => {
    const box = scroller.current;
    if (box === null) return;
    following.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END_PX;
    if (following.current) setHasNews(false);
  }, []);

  const toEnd = useCallback(() => {
    following.current = true;
    setHasNews(false);
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, []);

  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    const was = before.current;
    before.current = { first: rows[0]?.id, last: rows.at(-1)?.id, height: box.scrollHeight };
    if (following.current) box.scrollTop = box.scrollHeight;
    else if (was && was.first !== rows[0]?.id && was.last === rows.at(-1)?.id)
      box.scrollTop += box.scrollHeight - was.height;
    else if (was && was.last !== rows.at(-1)?.id) setHasNews(true);
  }, [rows]);

  return { scroller, hasNews, onScroll, toEnd };
}
