package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"go.landscaper.dev/test/lab"
)

// Assistant is a client of the command line's server for assistants.
type Assistant struct{ session *mcp.ClientSession }

// NewAssistant starts the built command line as an assistant does, until the test ends.
func NewAssistant(t *testing.T, kubeconfig string, args ...string) *Assistant {
	t.Helper()
	labProgram, err := lab.Program()
	if err != nil {
		t.Fatal(err)
	}
	// It ends when its input is closed, after the context of the test.
	command := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(filepath.Dir(labProgram), "landscaper-cli"), append([]string{"mcp"}, args...)...)
	command.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir()}
	complaints := &bytes.Buffer{}
	command.Stderr = complaints
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatalf("connect: %v: %s", err, complaints)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil || complaints.Len() > 0 {
			t.Errorf("the server for assistants ended with %v: %s", err, complaints)
		}
	})
	return &Assistant{session}
}

// Ask calls a tool, and returns the answer in JSON, or what is wrong.
func (a *Assistant) Ask(t *testing.T, tool string, arguments map[string]any) (text string, failed bool) {
	t.Helper()
	result, err := a.session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range result.Content {
		if content, ok := content.(*mcp.TextContent); ok {
			text += content.Text
		}
	}
	// Programs read the structured answer, which is the same.
	structured, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if !result.IsError && string(structured) != text {
		t.Errorf("%s: the structured answer is another one: %s, and not %s", tool, structured, text)
	}
	return text, result.IsError
}
