import { useState, type ReactElement, type ReactNode } from 'react';
import { client } from '../../api/client.ts';
import type { ClipJob } from '../../api/clips.ts';
import { useChange } from '../../api/read.ts';
import { Button, IconButton, To } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import { Cost, isUnderWay, Progress, State } from './columns.tsx';
import { Clips } from './preview.tsx';

/** One job: how it stands, what it made, and what can be done about it. */
export function ClipPanel({ job, onClose }: { readonly job: ClipJob; readonly onClose: () => void }): ReactElement {
  return (
    <SidePanel title={<Name>{job.model}</Name>} onClose={onClose}>
      <Section title="Job" actions={<Steps job={job} onClose={onClose} />}>
        {job.error !== null && (
          <p className="mb-2 break-words text-bad">
            <Name>{job.error}</Name>
          </p>
        )}
        <Facts of={factsOf(job)} />
      </Section>
      <Section title={job.clips.length > 1 ? 'Clips' : 'Clip'}>
        <Clips job={job} />
      </Section>
    </SidePanel>
  );
}

function factsOf(job: ClipJob): readonly (readonly [string, ReactNode])[] {
  const { provider, provider_name: name, clips_until: until, next_poll_at: next } = job;
  return [
    ['State', <State key="state" of={job} />],
    ['Progress', <Progress key="progress" of={job} />],
    ['Cost, USD', <Cost key="cost" of={job} />],
    ['Paid by', job.is_byok ? "the workspace's own credential" : "the operator's credential"],
    ['Provider', name === null ? (provider ?? 'none yet') : <Name key="provider">{name}</Name>],
    ['Length', job.duration === null ? '–' : `${job.duration} s`],
    ...(job.size === null ? [] : [['Size', job.size] as const]),
    ['Key', <Name key="key">{job.api_key_name ?? job.api_key_hash.slice(0, 12)}</Name>],
    ['Begun', <Ago key="begun" at={job.created_at} />],
    ['Over', job.finished_at === null ? 'not yet' : <Ago key="over" at={job.finished_at} />],
    ...(next === null ? [] : [['Next look', <Ago key="next" at={next} />] as const]),
    ...(job.callback_at === null ? [] : [['Next report', <Ago key="report" at={job.callback_at} />] as const]),
    ...(until === null ? [] : [['Kept until', <Ago key="until" at={until} />] as const]),
    ['Id', <Id key="id" id={job.id} length={22} />],
    [
      'Request',
      <To key="request" to={`/ui/requests/${encodeURIComponent(job.generation_id)}`}>
        {isUnderWay(job) ? 'its request, once it is over' : 'its request'}
      </To>,
    ],
  ];
}

function Steps({ job, onClose }: { readonly job: ClipJob; readonly onClose: () => void }): ReactElement {
  const [isDeleting, setIsDeleting] = useState(false);
  const params = { path: { job_id: job.id } };
  const cancel = useChange(() => client.POST('/videos/jobs/{job_id}/cancel', { params }));
  const remove = useChange(() => client.DELETE('/videos/jobs/{job_id}', { params }), onClose);
  return (
    <>
      {isUnderWay(job) ? (
        <Button icon="stop" disabled={cancel.isPending} onClick={() => cancel.mutate(undefined)}>
          Cancel the job
        </Button>
      ) : (
        <IconButton icon="trash" label="Delete the job" onClick={() => setIsDeleting(true)} />
      )}
      {cancel.error !== null && (
        <p role="alert" className="basis-full text-bad">
          {cancel.error.message}
        </p>
      )}
      <DeleteDialog
        what="job"
        name={job.model}
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        change={remove}
      >
        Its clips go with it. Its record and its cost stay.
      </DeleteDialog>
    </>
  );
}
