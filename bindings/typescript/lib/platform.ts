/** The package with the addon and the program for one platform. */
import { createRequire } from "node:module";

import { UnsupportedError } from "./errors.js";

/** Resolves modules as this package does. */
export const require: NodeJS.Require = createRequire(import.meta.url);

/** Returns the name of the package for this machine. */
export function platformPackage(): string {
  const { arch, platform } = process;
  return `@forklore/${platform}-${arch}${platform === "linux" ? `-${libc()}` : ""}`;
}

function libc(): "gnu" | "musl" {
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report?.header !== undefined && !report.header.glibcVersionRuntime ? "musl" : "gnu";
}

/** Returns what `find` finds in the package for this machine. */
export function inPlatformPackage<T>(what: string, find: (name: string) => T): T {
  const name = platformPackage();
  try {
    return find(name);
  } catch (error) {
    throw new UnsupportedError(
      "unsupported",
      `forklore has no ${what} for this machine: ${name} cannot be loaded`,
      { package: name },
      ["install with optional dependencies", `build the ${what} from source`],
      { cause: error },
    );
  }
}
