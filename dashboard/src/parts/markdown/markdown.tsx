import { marked, type Token, type Tokens } from 'marked';
import { memo, type ReactElement, type ReactNode } from 'react';
import { CopyButton } from '../copy.tsx';
import { safeLink } from './safe-link.ts';

/** Beyond it nothing is lexed: the rest of a text is shown plain. */
const LEXED_MAX = 50_000;
const DEPTH_MAX = 50;

/**
 * Markdown as React nodes, of an allow-list of tokens: HTML in it is shown as text, pictures of other hosts are links that open
 * by a click, and no string ever becomes HTML. Finished blocks are not rendered again while the last one grows.
 */
export function Markdown({ text }: { readonly text: string }): ReactElement {
  const tokens = lex(text.slice(0, LEXED_MAX));
  const rest = text.slice(LEXED_MAX);
  if (tokens === undefined) return <Plain text={text} />;
  return (
    <div className="flex min-w-0 flex-col gap-2 text-base leading-[21px] break-words">
      {tokens.map((token, at) => (
        <Block key={at} token={token} raw={token.raw} />
      ))}
      {rest !== '' && <Plain text={rest} />}
    </div>
  );
}

/** `marked` overflows its stack on nested quotes by the thousand. */
function lex(text: string): readonly Token[] | undefined {
  try {
    return marked.lexer(text).filter(({ type }) => type !== 'space');
  } catch {
    return undefined;
  }
}

function Plain({ text }: { readonly text: string }): ReactElement {
  return <p className="whitespace-pre-wrap">{text}</p>;
}

const Block = memo(
  function Block({ token }: { readonly token: Token; readonly raw: string }): ReactNode {
    return renderBlock(token, 0);
  },
  (before, after) => before.raw === after.raw,
);

function renderBlock(token: Token, depth: number): ReactNode {
  if (depth > DEPTH_MAX) return token.raw;
  if (isToken(token, 'heading'))
    return (
      <p className={`font-semibold ${token.depth <= 2 ? 'text-[16px]' : ''}`}>{renderInline(token.tokens, depth)}</p>
    );
  if (isToken(token, 'code')) return <Code text={token.text} language={token.lang ?? ''} />;
  if (isToken(token, 'blockquote'))
    return (
      <blockquote className="border-l-2 border-strong-line pl-3 text-dim">
        {renderBlocks(token.tokens, depth)}
      </blockquote>
    );
  if (isToken(token, 'list')) return <List token={token} depth={depth} />;
  if (isToken(token, 'table')) return <Table token={token} depth={depth} />;
  if (token.type === 'hr') return <hr className="border-line" />;
  if (isToken(token, 'paragraph')) return <p className="whitespace-pre-wrap">{renderInline(token.tokens, depth)}</p>;
  if (isToken(token, 'text')) return token.tokens === undefined ? token.text : renderInline(token.tokens, depth);
  return <Plain text={token.raw} />;
}

function renderBlocks(tokens: readonly Token[], depth: number): ReactNode {
  return tokens.map((token, at) => (
    <span key={at} className="block">
      {renderBlock(token, depth + 1)}
    </span>
  ));
}

function List({ token, depth }: { readonly token: Tokens.List; readonly depth: number }): ReactElement {
  const Tag = token.ordered ? 'ol' : 'ul';
  return (
    <Tag
      className={`flex flex-col gap-1 pl-5 ${token.ordered ? 'list-decimal' : 'list-disc'}`}
      {...(token.ordered && typeof token.start === 'number' && { start: token.start })}
    >
      {token.items.map((item, at) => (
        <li key={at}>
          {item.task && (
            <input
              type="checkbox"
              aria-label={item.text}
              checked={item.checked === true}
              readOnly
              className="mr-1.5 align-middle"
            />
          )}
          {renderBlocks(item.tokens, depth)}
        </li>
      ))}
    </Tag>
  );
}

function Table({ token, depth }: { readonly token: Tokens.Table; readonly depth: number }): ReactElement {
  return (
    <div className="overflow-x-auto">
      <table className="text-sm">
        <thead>
          <tr>
            {token.header.map((cell, at) => (
              <th key={at} scope="col" className="border border-line px-2 py-1 text-left font-semibold">
                {renderInline(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column} className="border border-line px-2 py-1">
                  {renderInline(cell.tokens, depth)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Code({ text, language }: { readonly text: string; readonly language: string }): ReactElement {
  return (
    <div className="rounded-md border border-line bg-page">
      <div className="flex items-center justify-between pl-3 text-xs text-dim">
        <span>{language}</span>
        <CopyButton text={text} label="Copy the code" />
      </div>
      <pre
        tabIndex={0}
        aria-label={language === '' ? 'Code' : `Code, ${language}`}
        className="overflow-x-auto px-3 pb-3 font-mono text-xs"
      >
        {text}
      </pre>
    </div>
  );
}

function renderInline(tokens: readonly Token[] | undefined, depth: number): ReactNode {
  return tokens?.map((token, at) => <span key={at}>{renderSpan(token, depth + 1)}</span>);
}

function renderSpan(token: Token, depth: number): ReactNode {
  if (depth > DEPTH_MAX) return token.raw;
  if (isToken(token, 'strong')) return <strong>{renderInline(token.tokens, depth)}</strong>;
  if (isToken(token, 'em')) return <em>{renderInline(token.tokens, depth)}</em>;
  if (isToken(token, 'del')) return <del>{renderInline(token.tokens, depth)}</del>;
  if (isToken(token, 'codespan')) return <code className="rounded bg-hover px-1 font-mono text-xs">{token.text}</code>;
  if (isToken(token, 'link')) return <Link href={token.href}>{renderInline(token.tokens, depth)}</Link>;
  if (isToken(token, 'image'))
    return <Link href={token.href}>{`picture: ${token.text === '' ? 'without a name' : token.text}`}</Link>;
  if (token.type === 'br') return <br />;
  if (isToken(token, 'escape')) return token.text;
  if (isToken(token, 'text')) return token.tokens === undefined ? token.text : renderInline(token.tokens, depth);
  return token.raw;
}

/** The host stands behind the label, so that no link looks like another one. What is no web address is text. */
function Link({ href, children }: { readonly href: string; readonly children: ReactNode }): ReactElement {
  const safe = safeLink(href);
  if (safe === undefined)
    return (
      <span>
        {children} <span className="font-mono text-xs text-dim">({href})</span>
      </span>
    );
  return (
    <a
      href={safe.href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="text-accent underline underline-offset-2"
    >
      {children} <span className="text-xs text-dim">({safe.host})</span>
    </a>
  );
}

/** Tokens of extensions have types of their own; ours are those that the lexer makes. */
function isToken<Type extends keyof ByType>(token: Token, type: Type): token is ByType[Type] {
  return token.type === type;
}

interface ByType {
  heading: Tokens.Heading;
  code: Tokens.Code;
  blockquote: Tokens.Blockquote;
  list: Tokens.List;
  table: Tokens.Table;
  paragraph: Tokens.Paragraph;
  text: Tokens.Text;
  strong: Tokens.Strong;
  em: Tokens.Em;
  del: Tokens.Del;
  codespan: Tokens.Codespan;
  link: Tokens.Link;
  image: Tokens.Image;
  escape: Tokens.Escape;
}
