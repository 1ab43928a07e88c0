// Package fuzz composes blueprints, charts, kustomizations and answers of target clusters of pieces
// of their grammars, and lets the server's processes work on them. Whatever they are, they end within
// their time and memory, and the program that has asked stays alive and small.
package fuzz
