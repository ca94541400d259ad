// The load generator: a process of its own that runs the jobs which run.ts sends over IPC, one at a time, and answers each with its result.
// It stays alive between jobs so that its code is compiled before the first figure is taken.
import { loadJobSchema, type LoadJob, type LoadResult } from './load-job.ts';
import { runClosedLoop, runOpenLoop, runPaced } from './loads.ts';

async function runJob(job: LoadJob): Promise<LoadResult> {
  switch (job.kind) {
    case 'closed':
      return runClosedLoop(job);
    case 'open':
      return runOpenLoop(job);
    case 'paced':
      return runPaced(job);
    default:
      return job satisfies never;
  }
}

process.on('message', (message) => {
  runJob(loadJobSchema.parse(message)).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ failed: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
