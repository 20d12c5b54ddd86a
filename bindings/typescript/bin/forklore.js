#!/usr/bin/env node
// Runs the program that the package of this platform has.
import { spawn } from "node:child_process";
import { constants } from "node:os";

import { programPath } from "../dist/lib/program.js";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

function fail(error) {
  console.error(`error: the program forklore cannot be started: ${error.message}`);
  process.exit(1);
}

function start() {
  try {
    return spawn(programPath(), process.argv.slice(2), { stdio: "inherit" });
  } catch (error) {
    return fail(error);
  }
}

const program = start();
for (const signal of SIGNALS) {
  // The terminal sends its signals to both; the program decides when to end.
  process.on(signal, () => program.kill(signal));
}
program.on("error", fail);
program.on("exit", (code, signal) => {
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
});
