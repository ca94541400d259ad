import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type ReactElement } from 'react';
import { asApiError } from '../../api/errors.ts';
import { deleteFile, downloadFile, readFiles, uploadFile, type StoredFile } from '../../api/files.ts';
import { useChange } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { FilterBox, matches } from '../../parts/filter-box.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { Grid } from '../../parts/grid.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { formatBytes, formatCount } from '../../parts/money.ts';
import { NothingMatches } from '../../parts/nothing-matches.tsx';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty, Failure, Skeleton } from '../../parts/states.tsx';
import { saveBlob } from '../../parts/save-blob.ts';
import { fileColumns } from './columns.tsx';
import { parseFilesSearch } from './search.ts';

/** What is stored. */
export function Page(): ReactElement {
  const [{ filter }, change] = useSearchState(parseFilesSearch);
  const list = useInfiniteQuery({
    queryKey: ['files'],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => readFiles(pageParam, signal),
    getNextPageParam: ({ cursor }) => cursor,
    retry: false,
  });
  const queries = useQueryClient();
  const [doomed, setDoomed] = useState<StoredFile>();
  const remove = useChange(
    async () => ({ data: doomed === undefined ? undefined : await deleteFile(doomed.id) }),
    () => setDoomed(undefined),
  );
  const setFilter = (q: string): void => change({ q }, false);
  const files = list.data?.pages.flatMap((page) => page.files) ?? [];
  const found = files.filter(({ filename, mime_type: type }) => matches(filter, filename, type));
  const download = (file: StoredFile): void => void downloadFile(file).then((blob) => saveBlob(file.filename, blob));
  return (
    <Frame
      title="Files"
      isFilled
      lead={
        list.data === undefined
          ? undefined
          : `${formatCount(files.length)} ${files.length === 1 ? 'file' : 'files'}, ${formatBytes(files.reduce((sum, file) => sum + file.size_bytes, 0))}`
      }
      actions={<Upload onDone={() => void queries.invalidateQueries()} />}
      bar={<FilterBox value={filter} onChange={setFilter} placeholder="minutes.md" label="Filter files" />}
    >
      {list.isPending && <Skeleton />}
      {list.isError && <Failure error={asApiError(list.error)} onRetry={() => void list.refetch()} />}
      {list.data !== undefined && found.length > 0 && (
        <Grid
          label="Files"
          columns={fileColumns(setDoomed, download)}
          rows={found}
          keyOf={({ id }) => id}
          foot={
            list.hasNextPage ? (
              <div className="p-3">
                <Button onClick={() => void list.fetchNextPage()}>Load older</Button>
              </div>
            ) : undefined
          }
        />
      )}
      {list.data !== undefined && found.length === 0 && (
        <None hasFiles={files.length > 0} filter={filter} onDrop={() => change({ q: undefined })} />
      )}
      {doomed !== undefined && (
        <DeleteDialog what="file" name={doomed.filename} isOpen onClose={() => setDoomed(undefined)} change={remove} />
      )}
    </Frame>
  );
}

function None({
  hasFiles,
  filter,
  onDrop,
}: {
  readonly hasFiles: boolean;
  readonly filter: string;
  readonly onDrop: () => void;
}): ReactElement {
  if (hasFiles) return <NothingMatches what="file" filters={[{ name: filter, onDrop }]} />;
  return (
    <Empty title="No file is stored">
      <p>
        Files that are stored once can be named in any request, whatever the model. Upload one here, or from a program:
      </p>
      <CodeBlock
        label="An upload"
        text={`curl -s ${location.origin}/v1/files \\\n  -H "Authorization: Bearer $GATEWAY_API_KEY" -F file=@minutes.md`}
      />
    </Empty>
  );
}

function Upload({ onDone }: { readonly onDone: () => void }): ReactElement {
  const input = useRef<HTMLInputElement>(null);
  const [share, setShare] = useState<number>();
  const [problem, setProblem] = useState<string>();
  const controller = useRef<AbortController>(undefined);
  useHotkeys({ u: () => input.current?.click() });
  const upload = async (files: FileList | null): Promise<void> => {
    setProblem(undefined);
    controller.current = new AbortController();
    for (const file of files ?? []) {
      setShare(0);
      try {
        // One after the other, so that the progress is of one file.
        await uploadFile(file, setShare, controller.current.signal);
      } catch (error) {
        setProblem(`${file.name}: ${asApiError(error).message}`);
        break;
      }
    }
    setShare(undefined);
    onDone();
  };
  return (
    <>
      {problem !== undefined && (
        <span role="alert" className="text-bad">
          {problem}
        </span>
      )}
      <input
        ref={input}
        type="file"
        multiple
        aria-label="Files to upload"
        className="sr-only"
        tabIndex={-1}
        onChange={(event) => void upload(event.target.files)}
      />
      {share === undefined ? (
        <Button look="primary" icon="plus" hotkey="u" onClick={() => input.current?.click()}>
          Upload
        </Button>
      ) : (
        <Button icon="stop" onClick={() => controller.current?.abort()}>
          {Math.round(share * 100)} %, stop
        </Button>
      )}
    </>
  );
}
