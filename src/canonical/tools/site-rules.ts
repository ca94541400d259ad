/**
 * Where pages may come from. A rule is a host with everything below it (`x.com`), everything below it alone (`*.x.com`), or a
 * host and the beginning of a path (`x.com/docs`); a scheme before it does not count. @spec web-6
 */
export interface SiteRule {
  /** Lower case. */
  readonly host: string;
  /** The host itself is not meant, only those below it. */
  readonly isBelow: boolean;
  /** Without a slash at its end; empty: the whole host. */
  readonly path: string;
}

/** In one list. */
export const SITES_MAX = 200;
/** Of one rule. A host has 253 at the most. */
const SITE_CHARS_MAX = 1_024;

/** `undefined` for what names no host. A path may end in `/*`, as vendors write it: everything below it is meant anyway. */
export function parseSiteRule(text: string): SiteRule | undefined {
  if (text.length > SITE_CHARS_MAX) return undefined;
  const bare = text.trim().replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
  const slash = bare.indexOf('/');
  const named = (slash < 0 ? bare : bare.slice(0, slash)).toLowerCase();
  const isBelow = /^\*?\./.test(named);
  const host = hostOf(named.replace(/^\*?\./, ''));
  if (host === undefined) return undefined;
  return { host, isBelow, path: slash < 0 ? '' : bare.slice(slash).replace(/\/\*$/, '').replace(/\/+$/, '') };
}

export function isSiteRule(text: string): boolean {
  return parseSiteRule(text) !== undefined;
}

/** As addresses spell it: names in other scripts have a spelling of their own there. */
function hostOf(name: string): string | undefined {
  if (name === '' || /[\s*@?#\\]/.test(name)) return undefined;
  const hostname = URL.parse(`http://${name}`)?.hostname;
  return hostname === undefined || hostname === '' ? undefined : withoutDot(hostname);
}

/** Whether an address is where one of the rules says. */
export function isAtSite(address: string, rules: readonly SiteRule[]): boolean {
  const url = URL.parse(address);
  if (url === null) return false;
  const host = withoutDot(url.hostname);
  return rules.some((rule) => isHostOf(host, rule) && isPathOf(url.pathname, rule.path));
}

/** `x.com.` is `x.com`. */
function withoutDot(host: string): string {
  return host.replace(/\.$/, '');
}

function isHostOf(host: string, { host: named, isBelow }: SiteRule): boolean {
  return (!isBelow && host === named) || host.endsWith(`.${named}`);
}

function isPathOf(path: string, prefix: string): boolean {
  return prefix === '' || path === prefix || path.startsWith(`${prefix}/`);
}
