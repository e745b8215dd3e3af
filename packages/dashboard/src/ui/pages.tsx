/** Whole pages for when there is no conversation to show: not signed in, or no gateway. */
import type { ReactNode } from "react";
import { LanguageSwitch, type LanguageSwitchProps } from "./language-switch.tsx";
import { useText } from "./context.tsx";
import { Mark } from "./signs.tsx";

function Page({
  children,
  language,
}: {
  readonly children: ReactNode;
  readonly language: LanguageSwitchProps;
}): ReactNode {
  return (
    <main className="page">
      <div className="page-body">
        <Mark />
        {children}
      </div>
      <LanguageSwitch {...language} />
    </main>
  );
}

export function SignedOutPage({ language }: { readonly language: LanguageSwitchProps }): ReactNode {
  const { signedOut } = useText();
  return (
    <Page language={language}>
      <h1>{signedOut.title}</h1>
      <p>{signedOut.lead}</p>
      <pre>{`${location.origin}/signin?token=…`}</pre>
      <p>{signedOut.once}</p>
      <button type="button" className="primary" onClick={() => location.reload()}>
        {signedOut.again}
      </button>
    </Page>
  );
}

export function UnreachablePage({ language }: { readonly language: LanguageSwitchProps }): ReactNode {
  const { unreachable } = useText();
  return (
    <Page language={language}>
      <h1>{unreachable.title}</h1>
      <p>{unreachable.lead}</p>
      <pre>npm start</pre>
      <p>{unreachable.safe}</p>
    </Page>
  );
}
