/** Input of a thread: the patterns to search. Its result is a `boolean` for each search, in their order. */
export interface PatternJob {
  /** By name of the field, each text once. */
  readonly texts: Readonly<Record<string, string>>;
  readonly searches: readonly { readonly field: string; readonly pattern: string }[];
}
