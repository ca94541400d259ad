/** A section of CHANGELOG.md: what stands below `## Unreleased` or a version. */
export interface Section {
  readonly title: string;
  readonly text: string;
}

const UNRELEASED = 'Unreleased';

export function readSections(changelog: string): readonly Section[] {
  return changelog
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.split('\n');
      return { title: title.trim(), text: lines.join('\n').trim() };
    });
}

/** The changelog with what was unreleased under its version. @throws Error where nothing is */
export function releaseChangelog(changelog: string, version: string, date: string): string {
  const unreleased = readSections(changelog).find(({ title }) => title === UNRELEASED);
  if (unreleased === undefined) throw new Error(`CHANGELOG.md has no section "## ${UNRELEASED}"`);
  if (!/^- /m.test(unreleased.text)) throw new Error(`CHANGELOG.md has nothing below "## ${UNRELEASED}"`);
  const from = changelog.indexOf(`## ${UNRELEASED}`);
  const next = changelog.indexOf('\n## ', from);
  const after = next < 0 ? '' : changelog.slice(next);
  const released = `## ${version} (${date})\n\n${unreleased.text}\n`;
  return `${changelog.slice(0, from)}## ${UNRELEASED}\n\n${released}${after}`;
}

/** What is unreleased, as a document of its own. */
export function formatNotes(changelog: string, version: string): string {
  const { text = '' } = readSections(changelog).find(({ title }) => title === UNRELEASED) ?? {};
  return `# Model Gateway ${version}\n\n${text.replaceAll(/^### /gm, '## ')}\n`;
}

const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9a-z.]+))?$/;

/** Whether a version follows another by semantic versioning. */
export function isNewer(version: string, than: string): boolean {
  const [one, other] = [VERSION.exec(version), VERSION.exec(than)];
  if (one === null || other === null) return false;
  for (const at of [1, 2, 3]) {
    const difference = Number(one[at]) - Number(other[at]);
    if (difference !== 0) return difference > 0;
  }
  const [pre, otherPre] = [one[4], other[4]];
  if (pre === otherPre) return false;
  if (pre === undefined || otherPre === undefined) return pre === undefined;
  return pre.localeCompare(otherPre, 'en', { numeric: true }) > 0;
}

export function isVersion(version: string): boolean {
  return VERSION.test(version);
}
