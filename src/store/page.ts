/** Which rows of a list. */
export interface PageWindow {
  readonly offset: number;
  readonly limit: number;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Of the whole list. */
  readonly totalCount: number;
}
