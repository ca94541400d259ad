import { useNavigate, useRouterState } from '@tanstack/react-router';

/** Search parameters as they stand in the address: texts, none of them parsed as JSON. */
export type Search = Readonly<Record<string, string>>;

/** For the router: `?tail=1` stays the text "1". */
export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(search).flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' ? [[name, value]] : [],
  );
  // Slashes, colons and commas are allowed in a query and stand in many slugs.
  const text = new URLSearchParams(entries)
    .toString()
    .replaceAll('%2F', '/')
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',');
  return text === '' ? '' : `?${text}`;
}

/** Undefined takes a parameter out of the address. */
export type ChangeSearch = (patch: Readonly<Record<string, string | undefined>>, isNewEntry?: boolean) => void;

/** The state of a page, which is its address: read through the page's own parser, changed with or without a new entry. */
export function useSearchState<State>(parse: (search: Search) => State): readonly [State, ChangeSearch] {
  const text = useRouterState({ select: ({ location }) => location.searchStr });
  const navigate = useNavigate();
  const change = (patch: Readonly<Record<string, string | undefined>>, isNewEntry = true): void => {
    const search = withoutUnset({ ...parseSearch(text), ...patch });
    void navigate({ to: '.', search, hash: true, replace: !isNewEntry, resetScroll: false });
  };
  return [parse(parseSearch(text)), change];
}

function withoutUnset(search: Readonly<Record<string, string | undefined>>): Search {
  return Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value]])),
  );
}

/** A value out of a list, or the first of it. */
export function oneOf<const Value extends string>(
  text: string | undefined,
  values: readonly [Value, ...Value[]],
): Value {
  return values.find((value) => value === text) ?? values[0];
}
