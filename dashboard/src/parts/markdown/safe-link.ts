/**
 * A link out of what a model wrote: web addresses alone, with the host as the network sees it (punycode). Anything else is no
 * link.
 */
export function safeLink(href: string): { readonly href: string; readonly host: string } | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  // A name and a password before the host are there to make it look like another one.
  return isWeb && url.username === '' && url.password === '' ? { href: url.href, host: url.host } : undefined;
}
