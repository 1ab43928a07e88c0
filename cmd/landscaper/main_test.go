package main

import (
	"testing"

	"go.landscaper.dev/internal/cli/commandline/commandlinetest"
)

// TestWrongCommandLines: what is wrong with a command line is said with its name.
func TestWrongCommandLines(t *testing.T) { commandlinetest.Check(t, newCommand()) }
