import { useState, type ReactElement } from 'react';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Checkbox } from '../../parts/field.tsx';
import { chosenColumns, requestColumns } from './columns.tsx';

/** Which columns are shown: part of the address, so that a link shows the same. */
export function ColumnChooser({
  chosen,
  onChange,
}: {
  readonly chosen: string;
  readonly onChange: (columns: string | undefined) => void;
}): ReactElement {
  const [isOpen, setIsOpen] = useState(false);
  const all = requestColumns(0, (hash) => hash);
  const shown = chosenColumns(all, chosen).map(({ id }) => id);
  const toggle = (id: string): void => {
    const next = shown.includes(id) ? shown.filter((other) => other !== id) : [...shown, id];
    onChange(next.length === 0 ? undefined : next.join(','));
  };
  return (
    <>
      <Button icon="presets" onClick={() => setIsOpen(true)}>
        Columns
      </Button>
      <Dialog title="Columns" isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <div className="grid grid-cols-2 gap-x-4 sm:grid-cols-3">
          {all.map(({ id, title }) => (
            <Checkbox key={id} label={title} checked={shown.includes(id)} onChange={() => toggle(id)} />
          ))}
        </div>
        <div className="mt-4 flex justify-end">
          <Button onClick={() => onChange(undefined)}>As at first</Button>
        </div>
      </Dialog>
    </>
  );
}
