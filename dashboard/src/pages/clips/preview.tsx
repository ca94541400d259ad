import { useEffect, useState, type ReactElement } from 'react';
import { readClip, type ClipJob } from '../../api/clips.ts';
import { useCall } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { formatBytes } from '../../parts/money.ts';
import { saveBlob } from '../../parts/save-blob.ts';

/** The clips of a job: none is fetched before the click, and the click is recorded. */
export function Clips({ job }: { readonly job: ClipJob }): ReactElement {
  if (job.clips.length === 0) return <p className="text-dim">{NONE[job.status]}</p>;
  return (
    <ul className="flex flex-col gap-3">
      {job.clips.map((clip, index) => (
        <li key={index}>
          <Clip id={job.id} index={index} clip={clip} />
        </li>
      ))}
    </ul>
  );
}

const NONE: Readonly<Record<ClipJob['status'], string>> = {
  pending: 'It is not made yet.',
  in_progress: 'It is being made.',
  completed: 'The provider made none.',
  failed: 'None was made.',
  cancelled: 'None was made.',
  expired: 'None was made in time.',
};

function Clip({
  id,
  index,
  clip: { media_type: type, size_bytes: bytes, is_stored: isStored },
}: {
  readonly id: string;
  readonly index: number;
  readonly clip: ClipJob['clips'][number];
}): ReactElement {
  const [blob, setBlob] = useState<Blob>();
  const read = useCall(async (then: (found: Blob) => void) => {
    then(blob ?? (await readClip(id, index)));
    return { data: undefined };
  });
  const name = `${id}-${index}.${type.slice(type.indexOf('/') + 1)}`;
  return (
    <div className="flex flex-col gap-2">
      {blob !== undefined && <Player blob={blob} label={`Clip ${index + 1}`} />}
      <div className="flex flex-wrap items-center gap-2">
        {blob === undefined && (
          <Button icon="play" disabled={read.isPending} onClick={() => read.mutate(setBlob)}>
            Show the clip
          </Button>
        )}
        <Button icon="download" disabled={read.isPending} onClick={() => read.mutate((found) => saveBlob(name, found))}>
          Save
        </Button>
        <span className="text-dim">
          {[type, bytes === null ? undefined : formatBytes(bytes), isStored ? 'stored here' : 'at its provider']
            .filter(Boolean)
            .join(', ')}
        </span>
      </div>
      {blob === undefined && <p className="text-xs text-dim">Reading what models made is recorded in the audit log.</p>}
      {read.error !== null && (
        <p role="alert" className="text-bad">
          {read.error.message}
        </p>
      )}
    </div>
  );
}

function Player({ blob, label }: { readonly blob: Blob; readonly label: string }): ReactElement {
  const [url, setUrl] = useState<string>();
  const [isRefused, setRefused] = useState(false);
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  if (isRefused) return <p className="text-warn">This browser cannot play it. Save it, and open it elsewhere.</p>;
  return (
    <video
      controls
      muted
      aria-label={label}
      {...(url !== undefined && { src: url })}
      onError={() => setRefused(url !== undefined)}
      className="max-h-72 w-full rounded-md border border-line bg-page"
    />
  );
}
