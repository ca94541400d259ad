/** The changes that add one member: the files of the row, and the texts in them. */
export interface Addition {
  /** How its row in the table "How to add" begins. */
  readonly row: string;
  /** New files, by path. */
  readonly creates: Readonly<Record<string, string>>;
  /** In files that are there: the text before which another one is put. */
  readonly inserts: readonly Insert[];
}

export interface Insert {
  readonly path: string;
  /** Stands there once. Empty: the beginning of the file, for an import. */
  readonly before: string;
  readonly text: string;
}
