import type { z } from 'zod';
import { describeIssue, describeMismatch, describeUnknownField, mismatchOf } from './describe-issue.ts';
import type { Mismatch } from './describe-issue.ts';

type ZodIssue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** One thing that is wrong, at one member. */
export interface Fault {
  readonly path: Path;
  readonly message: string;
  /** What the member should have been, where it is of another kind or value altogether. */
  readonly mismatch?: Mismatch;
}

/** Names that the schema knows for members of the object at a path. */
type KnownMembers = (path: Path) => readonly string[];

/**
 * Turns zod's issues into faults, at most `max`; `more` counts the rest. Of a union only the branch that the value was
 * most likely meant for is reported, because the others would only list what it is not.
 */
export function findFaults(
  issues: readonly ZodIssue[],
  max: number,
  known: KnownMembers,
): { readonly faults: readonly Fault[]; readonly more: number } {
  const faults: Fault[] = [];
  collect(issues, [], max, known, faults);
  // Branches of unions are not counted: the number only shows that there is more to fix.
  return { faults, more: Math.max(0, issues.length - faults.length) };
}

function collect(issues: readonly ZodIssue[], base: Path, max: number, known: KnownMembers, faults: Fault[]): void {
  for (const issue of issues) {
    if (faults.length >= max) return;
    const path = [...base, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      const names = known(path);
      for (const key of issue.keys.slice(0, max - faults.length))
        faults.push({ path: [...path, key], message: describeUnknownField(key, names) });
    } else if (issue.code === 'invalid_union' && issue.errors.length > 0 && issue.message === '') {
      faults.push(...faultsOfUnion(issue, path, max - faults.length, known));
    } else {
      const mismatch = mismatchOf(issue);
      faults.push({ path, message: describeIssue(issue), ...(mismatch && { mismatch }) });
    }
  }
}

function faultsOfUnion(
  issue: z.core.$ZodIssueInvalidUnion,
  path: Path,
  max: number,
  known: KnownMembers,
): readonly Fault[] {
  const branches = issue.errors.map((errors) => {
    const faults: Fault[] = [];
    collect(errors, path, max, known, faults);
    return faults;
  });
  const meant = branches.filter(
    (faults) => !faults.some((fault) => fault.mismatch && fault.path.length === path.length),
  );
  if (meant.length === 0) return [mergeMismatches(branches.flat(), path, issue.input)];
  const [best = []] = meant.toSorted((left, right) => rankBranch(left, path) - rankBranch(right, path));
  const tag = best.find((fault) => isTag(fault, path));
  if (tag === undefined || meant.length === 1) return best;
  // No branch has this tag: the tags of all of them are the response, and whatever else a branch misses is beside the point.
  const tags = meant.flat().filter((fault) => isTag(fault, path) && fault.path.at(-1) === tag.path.at(-1));
  return [mergeMismatches(tags, tag.path, tag.mismatch?.input)];
}

/** Lower is likelier: the right tag first, then the deepest fault, then the fewest. */
function rankBranch(faults: readonly Fault[], path: Path): number {
  const tagged = faults.some((fault) => isTag(fault, path)) ? 1_000_000 : 0;
  const depth = Math.max(0, ...faults.map((fault) => fault.path.length));
  return tagged - Math.min(depth, 1_000) * 100 + faults.length;
}

/** A literal value right below a union, such as `type`, distinguishes its branches. */
function isTag(fault: Fault, path: Path): boolean {
  return fault.path.length === path.length + 1 && (fault.mismatch?.values.length ?? 0) > 0;
}

function mergeMismatches(faults: readonly Fault[], path: Path, input: unknown): Fault {
  const mismatches = faults.flatMap((fault) =>
    fault.path.length === path.length && fault.mismatch ? [fault.mismatch] : [],
  );
  const mismatch = {
    values: [...new Set(mismatches.flatMap(({ values }) => values))],
    kinds: [...new Set(mismatches.flatMap(({ kinds }) => kinds))],
    input,
  };
  return { path, message: describeMismatch(mismatch), mismatch };
}
