interface RefParts { repository: string; number: string }

const pattern = /^[^:/#\s]+:(.+)#(\d+)$/;

function partsOf(ref: string): RefParts | undefined {
  const match = pattern.exec(ref);
  return match?.[1] !== undefined && match[2] !== undefined ? { repository: match[1], number: match[2] } : undefined;
}

/** `octo/repo#15` of `github:octo/repo#15`; anything else as it is. */
export function shortRef(ref: string): string {
  const parts = partsOf(ref);
  return parts ? `${parts.repository}#${parts.number}` : ref;
}

/** `#15` of `github:octo/repo#15`; anything else as it is. */
export function numberRef(ref: string): string {
  const parts = partsOf(ref);
  return parts ? `#${parts.number}` : ref;
}

/** `octo/repo` of `github:octo/repo#15`, or undefined. */
export function repositoryOf(ref: string): string | undefined {
  return partsOf(ref)?.repository;
}

/** True when the refs name more than one repository, so that a number alone does not tell which. */
export function severalRepositories(refs: readonly string[]): boolean {
  return new Set(refs.map((ref) => repositoryOf(ref)).filter((repository) => repository !== undefined)).size > 1;
}
