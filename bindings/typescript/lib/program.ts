/** The program `forklore`, which `npx forklore` runs. */
import { inPlatformPackage, require } from "./platform.js";

/**
 * Returns the path of the program: the one that the environment variable `FORKLORE_PROGRAM` names, or
 * else that of the package for this machine.
 */
export function programPath(): string {
  const named = process.env["FORKLORE_PROGRAM"];
  if (named) {
    return named;
  }
  const suffix = process.platform === "win32" ? ".exe" : "";
  return inPlatformPackage("program", (name) => require.resolve(`${name}/forklore${suffix}`));
}
