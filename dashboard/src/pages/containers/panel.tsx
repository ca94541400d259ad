import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { downloadContainerFile } from '../../api/files.ts';
import { useCall, useChange, useRead } from '../../api/read.ts';
import { IconButton } from '../../parts/button.tsx';
import { saveBlob } from '../../parts/save-blob.ts';
import { DeleteDialog } from '../../parts/form.tsx';
import { formatBytes } from '../../parts/money.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Load } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';
import { factsOf, type Container } from './columns.tsx';

const FILES = 1_000;

/** What commands have made in one container. */
export function ContainerPanel({
  workspace,
  container,
  onClose,
}: {
  readonly workspace: string;
  readonly container: Container;
  readonly onClose: () => void;
}): ReactElement {
  const [isDeleting, setIsDeleting] = useState(false);
  const { id, status } = container;
  const path = { container_id: id };
  const query = { workspace_id: workspace };
  const files = useRead(['container-files', workspace, id], (signal) =>
    client.GET('/containers/{container_id}/files', { signal, params: { path, query: { ...query, limit: FILES } } }),
  );
  const download = useCall(async (file: { readonly id: string; readonly path: string }) => {
    saveBlob(file.path.slice(file.path.lastIndexOf('/') + 1), await downloadContainerFile(workspace, id, file.id));
    return {};
  });
  const remove = useChange(() => client.DELETE('/containers/{container_id}', { params: { path, query } }), onClose);
  return (
    <SidePanel title={<Name>{id}</Name>} onClose={onClose}>
      <Section
        title="Container"
        actions={
          <IconButton
            icon="trash"
            label="Delete the container"
            disabled={status === 'warm'}
            onClick={() => setIsDeleting(true)}
          />
        }
      >
        <Facts of={factsOf(container)} />
        {status === 'warm' && <p className="mt-2 text-dim">A command runs in it: it can be deleted afterwards.</p>}
      </Section>
      <Section title="Files">
        {download.isError && (
          <p role="alert" className="mb-2 text-bad">
            {download.error.message}
          </p>
        )}
        <Load of={files} rows={3}>
          {({ data, has_more: hasMore }) =>
            data.length === 0 ? (
              <p className="text-dim">There is no file.</p>
            ) : (
              <ul>
                {data.map((file) => (
                  <li key={file.id} className="flex min-h-7 items-center gap-2">
                    <span className="min-w-0 flex-1 truncate font-mono text-xs" title={file.path}>
                      <Name>{file.path}</Name>
                    </span>
                    <span className="text-dim">{formatBytes(file.bytes)}</span>
                    <IconButton icon="download" label={`Download ${file.path}`} onClick={() => download.mutate(file)} />
                  </li>
                ))}
                {hasMore && <li className="text-dim">There are more files than these.</li>}
              </ul>
            )
          }
        </Load>
      </Section>
      <DeleteDialog what="container" name={id} isOpen={isDeleting} onClose={() => setIsDeleting(false)} change={remove}>
        Its files go with it.
      </DeleteDialog>
    </SidePanel>
  );
}
