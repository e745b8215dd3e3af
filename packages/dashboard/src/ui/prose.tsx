/**
 * Text of answers as Markdown. It is data from a model: no raw HTML, no scripts, no pictures fetched from elsewhere,
 * links only to http, https and mailto.
 */
import { memo, type ReactNode } from "react";
import Markdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { languageOf } from "../text/language.ts";
import { safeLink } from "../view/links.ts";
import { useText } from "./context.tsx";

const PLUGINS = [remarkGfm];

function RemoteImage({ src, alt }: { readonly src: string; readonly alt: string }): ReactNode {
  const label = useText().remoteImage(alt);
  return src === "" ? <span>{label}</span> : <Link href={src}>{label}</Link>;
}

function Link({ href, children }: { readonly href: string; readonly children: ReactNode }): ReactNode {
  if (href === "") return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

const COMPONENTS: Components = {
  a: ({ href, children }) => <Link href={href ?? ""}>{children}</Link>,
  img: ({ src, alt }) => <RemoteImage src={typeof src === "string" ? src : ""} alt={alt ?? ""} />,
  table: ({ children }) => (
    <div className="table-scroll">
      <table>{children}</table>
    </div>
  ),
};

/** `memo`: a long conversation must not parse all its Markdown again for each streamed word. */
export const Prose = memo(function Prose({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="prose" lang={languageOf(text)}>
      <Markdown remarkPlugins={PLUGINS} urlTransform={safeLink} components={COMPONENTS}>
        {text}
      </Markdown>
    </div>
  );
});
