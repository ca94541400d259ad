import type { ReactElement } from 'react';
import { useCall } from '../api/read.ts';
import { Button } from './button.tsx';
import { saveBlob } from './save-blob.ts';

/** Everything that a page found, as a file of one of two forms. @param name of the file, without its ending */
export function ExportButtons({
  name,
  read,
}: {
  readonly name: string;
  readonly read: (format: 'csv' | 'jsonl') => Promise<Blob>;
}): ReactElement {
  const save = useCall(async (format: 'csv' | 'jsonl') => {
    saveBlob(`${name}.${format}`, await read(format));
    return { data: undefined };
  });
  return (
    <>
      {(['csv', 'jsonl'] as const).map((format) => (
        <Button
          key={format}
          {...(format === 'csv' && { icon: 'download' as const })}
          aria-label={`Download as ${format === 'csv' ? 'CSV' : 'lines of JSON'}`}
          disabled={save.isPending}
          onClick={() => save.mutate(format)}
        >
          {format === 'csv' ? 'CSV' : 'JSON'}
        </Button>
      ))}
      {save.error !== null && (
        <span role="alert" className="text-bad">
          {save.error.message}
        </span>
      )}
    </>
  );
}
