import { isTextType } from '../../../canonical/text-type.ts';
import type { ConverseMedia } from '../dialect.ts';

/** @source AWS SDK `ImageFormat`, `VideoFormat`, `DocumentFormat`, 3.1162 (2026-11) */
const FORMAT_OF_TYPE: ReadonlyMap<string, readonly [kind: ConverseMedia, format: string]> = new Map([
  ['image/png', ['image', 'png']],
  ['image/jpeg', ['image', 'jpeg']],
  ['image/jpg', ['image', 'jpeg']],
  ['image/gif', ['image', 'gif']],
  ['image/webp', ['image', 'webp']],
  ['video/mp4', ['video', 'mp4']],
  ['video/mpeg', ['video', 'mpeg']],
  ['video/quicktime', ['video', 'mov']],
  ['video/mov', ['video', 'mov']],
  ['video/webm', ['video', 'webm']],
  ['video/x-matroska', ['video', 'mkv']],
  ['video/x-flv', ['video', 'flv']],
  ['video/x-ms-wmv', ['video', 'wmv']],
  ['video/3gpp', ['video', 'three_gp']],
  ['application/pdf', ['document', 'pdf']],
  ['application/msword', ['document', 'doc']],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', ['document', 'docx']],
  ['application/vnd.ms-excel', ['document', 'xls']],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', ['document', 'xlsx']],
  ['text/csv', ['document', 'csv']],
  ['text/html', ['document', 'html']],
  ['text/markdown', ['document', 'md']],
  ['text/plain', ['document', 'txt']],
]);

const TYPE_OF_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['mp4', 'video/mp4'],
  ['mpeg', 'video/mpeg'],
  ['mpg', 'video/mpeg'],
  ['mov', 'video/quicktime'],
  ['webm', 'video/webm'],
  ['mkv', 'video/x-matroska'],
  ['flv', 'video/x-flv'],
  ['wmv', 'video/x-ms-wmv'],
  ['3gp', 'video/3gpp'],
  ['pdf', 'application/pdf'],
  ['doc', 'application/msword'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xls', 'application/vnd.ms-excel'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['md', 'text/markdown'],
  ['txt', 'text/plain'],
]);

export interface MediaFormat {
  readonly kind: ConverseMedia;
  readonly format: string;
}

/** The format's name of a media type, or of a file's extension where the type is generic; `undefined`: it has none. */
export function formatOf(mediaType: string | undefined, name: string | undefined): MediaFormat | undefined {
  const type = mediaType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const extension = /\.([a-z0-9]{1,5})$/i.exec(name ?? '')?.[1]?.toLowerCase() ?? '';
  const named = FORMAT_OF_TYPE.get(type) ?? FORMAT_OF_TYPE.get(TYPE_OF_EXTENSION.get(extension) ?? '');
  if (named !== undefined) return { kind: named[0], format: named[1] };
  return isTextType(type) ? { kind: 'document', format: 'txt' } : undefined;
}
