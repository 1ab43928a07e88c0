// Package console shows a landscape in a browser: how Installations stand, why they wait, and how
// values flow between them. It only reads. What it says about an object is what package inspect
// says, so that a page and a command never differ; it judges nothing itself, and has no clients.
package console
