// Package console shows a landscape in a browser: how Installations stand, why they wait, and how
// values flow between them. What it says about an object is what package inspect says, so that a
// page and a command never differ; it judges nothing itself, and has no clients. What a visitor does is
// left to an Actor with the rights of the visitor.
package console
