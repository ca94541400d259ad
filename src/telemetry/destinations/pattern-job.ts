/** What a thread is asked: which patterns are found. It answers with a `boolean` for each search, in their order. */
export interface PatternJob {
  /** By name of the field, each text once. */
  readonly texts: Readonly<Record<string, string>>;
  readonly searches: readonly { readonly field: string; readonly pattern: string }[];
}
