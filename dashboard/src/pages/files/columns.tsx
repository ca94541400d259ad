import type { StoredFile } from '../../api/files.ts';
import { IconButton } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import type { Column } from '../../parts/grid.tsx';
import { formatBytes } from '../../parts/money.ts';
import { Ago, Name } from '../../parts/text.tsx';

export function fileColumns(
  onDelete: (file: StoredFile) => void,
  onDownload: (file: StoredFile) => void,
): readonly Column<StoredFile>[] {
  return [
    {
      id: 'name',
      title: 'Name',
      width: 220,
      grows: true,
      cell: ({ filename }) => (
        <span className="font-medium">
          <Name>{filename}</Name>
        </span>
      ),
    },
    { id: 'kind', title: 'Kind', width: 150, cell: ({ mime_type: type }) => <span className="text-dim">{type}</span> },
    {
      id: 'size',
      title: 'Size',
      width: 90,
      align: 'right',
      cell: ({ size_bytes: bytes }) => <span className="font-mono text-xs">{formatBytes(bytes)}</span>,
    },
    { id: 'made', title: 'Made', width: 110, cell: ({ created_at: at }) => <Ago at={at} /> },
    { id: 'id', title: 'Id', width: 230, cell: ({ id }) => <Id id={id} length={22} /> },
    {
      id: 'do',
      title: '',
      width: 80,
      cell: (file) => (
        <span className="flex">
          {file.downloadable && (
            <IconButton icon="download" label={`Download ${file.filename}`} onClick={() => onDownload(file)} />
          )}
          <IconButton icon="trash" label={`Delete ${file.filename}`} onClick={() => onDelete(file)} />
        </span>
      ),
    },
  ];
}
