/** How a setting of the other file ended up. */
export type NoteKind = 'changed' | 'lost' | 'needless';

export interface Note {
  readonly kind: NoteKind;
  readonly text: string;
  /** Where the setting stands, several times where many say the same. */
  readonly paths: readonly string[];
}

/** Settings of one name and one fate are one note: a file of fifty models says `rpm` fifty times. */
export class Notes {
  readonly #notes = new Map<string, { kind: NoteKind; text: string; paths: string[] }>();

  add(kind: NoteKind, path: string, text: string): void {
    const key = `${kind} ${path.slice(path.lastIndexOf('.') + 1)} ${text}`;
    const note = this.#notes.get(key);
    if (note === undefined) this.#notes.set(key, { kind, text, paths: [path] });
    else if (!note.paths.includes(path)) note.paths.push(path);
  }

  list(): readonly Note[] {
    return [...this.#notes.values()];
  }
}

const TITLES: Readonly<Record<NoteKind, string>> = {
  lost: 'Not carried over',
  changed: 'Carried over in another way',
  needless: 'Nothing to do',
};
const PATHS_SHOWN = 3;

/** The notes as lines for people, what was lost first. */
export function formatNotes(notes: readonly Note[]): string {
  return (['lost', 'changed', 'needless'] as const)
    .map((kind) => {
      const some = notes.filter((note) => note.kind === kind);
      if (some.length === 0) return '';
      return `${TITLES[kind]}:\n${some.map((note) => `  ${formatPaths(note.paths)}: ${note.text}\n`).join('')}`;
    })
    .join('');
}

function formatPaths(paths: readonly string[]): string {
  const shown = paths.slice(0, PATHS_SHOWN).join(', ');
  return paths.length > PATHS_SHOWN ? `${shown} and ${paths.length - PATHS_SHOWN} more` : shown;
}
