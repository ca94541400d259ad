import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import * as z from 'zod';

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
});
type Manifest = z.infer<typeof manifestSchema>;

/**
 * Writes the licenses of the packages that modules are of, which nearly each of them asks for.
 * @param modules paths of files
 * @throws Error for a package that names no license and has no text of one
 */
export function collectLicenses(root: string, modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((file) => packageFolder(file) ?? []));
  const sections = [...folders]
    .map((folder) => readLicense(root, folder))
    .toSorted((left, right) => left.title.localeCompare(right.title));
  // A package that is there twice in one version is named once.
  const titles = new Set(sections.map(({ title }) => title));
  const texts = [...titles].map((title) => sections.find((section) => section.title === title)?.text ?? '');
  return `# Licenses of the software inside this package\n\n${texts.join('\n')}`;
}

/** The folder of the package of a file; `undefined`: it is of this project, or of the bundler. */
function packageFolder(file: string): string | undefined {
  const inPackage = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file.replaceAll('\\', '/'));
  return inPackage?.[1];
}

function readLicense(root: string, folder: string): { readonly title: string; readonly text: string } {
  const { name, version, license }: Manifest = manifestSchema.parse(
    JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')),
  );
  const files = existsSync(folder) ? readdirSync(folder).filter((entry) => /^(licen[cs]e|notice)/i.test(entry)) : [];
  if (license === undefined && files.length === 0)
    throw new Error(`${path.relative(root, folder)} names no license: look at it before it is packed`);
  const texts = files.map((file) => readFileSync(path.join(folder, file), 'utf8').trim());
  const title = `${name} ${version}`;
  return { title, text: [`## ${title}`, '', `License: ${license ?? 'see below'}`, '', ...texts, ''].join('\n') };
}
