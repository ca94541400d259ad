import type { ReactElement } from 'react';
import { exportGenerations } from '../../api/generations.ts';
import { useCall } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { saveBlob } from '../../parts/csv.ts';

/** Everything that the filters find in the range, as a file. */
export function ExportButton({
  filters,
  from,
}: {
  readonly filters: Readonly<Record<string, string>>;
  readonly from: string;
}): ReactElement {
  const save = useCall(async (format: 'csv' | 'jsonl') => {
    saveBlob(`requests.${format}`, await exportGenerations(filters, { from, format }));
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
