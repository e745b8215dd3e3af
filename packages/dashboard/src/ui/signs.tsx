/** The small signs: shape carries the meaning, colour only repeats it. */
import type { ReactNode } from "react";
import type { Sign } from "../view/describe.ts";
import type { Ring } from "../view/rows.ts";
import { useText } from "./context.tsx";

/** How far one's own message has come: hollow, half, full. */
export function RingSign({ ring }: { readonly ring: Ring }): ReactNode {
  const text = useText();
  return (
    <span className="ring" data-ring={ring} role="img" aria-label={text[ring]} title={text[ring]}>
      <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
        <circle cx="6" cy="6" r="4.75" fill="none" stroke="currentColor" strokeWidth="1.5" />
        {ring === "accepted" && <path d="M6 1.250a4.750 4.750 0 0 1 0 9.500z" fill="currentColor" />}
        {ring === "saved" && <circle cx="6" cy="6" r="4.750" fill="currentColor" />}
      </svg>
    </span>
  );
}

const SHAPES: Readonly<Record<Sign, ReactNode>> = {
  ok: <path d="M3.500 8.500l3 3 6-7" />,
  happened: <path d="M3.500 8.500l3 3 6-7" />,
  failed: <path d="M4.500 4.500l7 7m0-7l-7 7" />,
  not_started: <circle cx="8" cy="8" r="4.500" />,
  absent: <path d="M4 8h8" />,
  conflict: <path d="M4 6h8M4 10h8M10 3.500l-4 9" />,
  unknown: <path d="M5.800 6a2.250 2.250 0 1 1 3.300 2c-.8.4-1.100.8-1.100 1.600M8 12.300v.1" />,
  waiting: <path d="M8 3.500a4.500 4.500 0 1 1 0 9a4.500 4.500 0 0 1 0-9zM8 5.750v2.500l1.750 1" />,
  in_flight: <circle cx="8" cy="8" r="3.250" fill="currentColor" stroke="none" />,
};

export function VerdictIcon({ sign }: { readonly sign: Sign }): ReactNode {
  return (
    <svg className="sign-icon" data-sign={sign} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {SHAPES[sign]}
    </svg>
  );
}

/** The mark of the house: a holdfast gripping its rock. */
export function Mark(): ReactNode {
  return (
    <svg className="mark" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <path d="M16 3v14M16 17c0 6-3 9-9 10M16 17c0 6 3 9 9 10M16 17c0 5-1 8-3 12M16 17c0 5 1 8 3 12" />
      <path d="M16 9c-4 0-6-2-6.500-5M16 13c4 0 6-2 6.500-5" />
    </svg>
  );
}
