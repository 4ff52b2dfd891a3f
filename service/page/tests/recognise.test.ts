import assert from "node:assert/strict";
import { test } from "node:test";
import { HEAD, recognise } from "../src/create/recognise.ts";

const kind = (text: string, name = "file") => recognise(new TextEncoder().encode(text).subarray(0, HEAD), name);

test("job files and machine files are told by what they say", () => {
  assert.equal(kind("# mine\nname: a\napplication: {builtin: cg}\nbudget:\n  trials: 3\n"), "job");
  assert.equal(kind('\uFEFF{"name": "a", "machine": {"nodes": 4, "topology": {"edges": [[0, 1]]}}, "budget": {"trials": 3}}'), "job");
  assert.equal(kind("'search': {}\n"), "job");
  assert.equal(kind("nodes: 4\nhost_speed: 1Gf\nlink_bandwidth: 1Gbps\n"), "machine");
  assert.equal(kind('{"nodes": 4, "host_speed": 1, "link_bandwidth": 1, "topology": {"edges": [[0, 1]]}}'), "machine");
});

test("networks are told by their format", () => {
  assert.equal(kind("#\n# Topology file\n\nvendid=0x2c9\ndevid=0xc738\n"), "fabric");
  assert.equal(kind('Switch\t36 "S-1"\n'), "fabric");
  assert.equal(kind("SwitchName=s0 Nodes=n[1-4]\n"), "fabric");
  assert.equal(kind("0 1\n1 2\n", "ring"), "fabric");
  assert.equal(kind("0,0 0,1\n", "grid.golf"), "fabric");
  assert.equal(kind("% METIS\n2 1\n2\n1\n", "x.graph"), "fabric");
  assert.equal(kind('<?xml version="1.0"?>\n<graphml xmlns="x"><graph/></graphml>'), "fabric");
  assert.equal(kind("<!DOCTYPE platform SYSTEM 'x'><platform version='4.1'/>"), "fabric");
  assert.equal(kind('{"edges": [[0, 1]]}'), "fabric");
  assert.equal(kind("0 1\n".repeat(HEAD) + "1"), "fabric");
});

test("the inside of a host is told by hwloc's root", () => {
  assert.equal(kind('<?xml version="1.0"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0"><object/></topology>'), "host");
});

test("traces and archives are told by their first bytes", () => {
  assert.equal(kind("HAMTRACE\x01\x00\x00\x00", "x.txt"), "trace");
  assert.equal(recognise(new Uint8Array([0x1f, 0x8b, 8, 0]), "x"), "source");
  assert.equal(kind("PK\x03\x04rest", "x"), "source");
  assert.equal(kind(`${"\0".repeat(257)}ustar\0`, "x"), "source");
});

test("anything else is nothing, whatever its name says", () => {
  for (const text of ["", "%PDF-1.7 \0", "Dear all,\nname: nothing\n", "<html><body/></html>", '{"a": 1}', "[1, 2]", "\0\0\0", "1 apple\n"]) {
    assert.equal(kind(text, "job.yaml"), null, JSON.stringify(text));
    assert.equal(kind(text, "x.ht"), null);
  }
});
