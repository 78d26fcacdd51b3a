/** Resident memory of a service: its own process, and the model process that it starts. */
import { readdirSync, readFileSync } from 'node:fs';

export interface ServiceMemory {
  readonly serviceMb: number;
  readonly modelMb: number;
}

/** Linux only: reads /proc. */
export function memoryOf(pid: number): ServiceMemory {
  let modelMb = 0;
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name) && field(name, 'PPid') === pid) modelMb += (field(name, 'VmRSS') ?? 0) / 1_024;
  }
  return { serviceMb: (field(String(pid), 'VmRSS') ?? 0) / 1_024, modelMb };
}

function field(pid: string, name: string): number | undefined {
  try {
    const value = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return value === undefined ? undefined : Number(value);
  } catch {
    return undefined;
  }
}
