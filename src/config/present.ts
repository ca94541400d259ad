type Present<Members> = { readonly [Name in keyof Members]?: Exclude<Members[Name], undefined> };

/** The members that have a value: an absent option stays absent instead of being set to `undefined`. */
export function present<Members extends object>(members: Members): Present<Members>;
export function present(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
