package showcase

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// clients are the programs that the scripts call, by their names: our command line, and the kubectl
// of this machine, or of the lab where this machine has no kubectl.
var clients = sync.OnceValues(func() (map[string]string, error) {
	cli, err := landscape.Program("landscaper-cli")
	if err != nil {
		return nil, err
	}
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		if kubectl, err = buildKubectl(os.Stderr); err != nil {
			return nil, err
		}
	}
	return map[string]string{"landscaper-cli": cli, "kubectl": kubectl}, nil
})

// Client is where a program is that the scripts call.
func Client(name string) (string, error) {
	all, err := clients()
	return all[name], err
}

// BuildClients builds the clients that this machine does not have, and reports how far that is.
func BuildClients(progress io.Writer) error {
	if _, err := exec.LookPath("kubectl"); err == nil {
		return nil
	}
	_, err := buildKubectl(progress)
	return err
}

func buildKubectl(progress io.Writer) (string, error) {
	program, err := lab.Program()
	if err != nil {
		return "", err
	}
	build := exec.Command(program, "build", "kubectl")
	build.Stderr = progress
	output, err := build.Output()
	if err != nil {
		return "", fmt.Errorf("build kubectl: %w", err)
	}
	return strings.TrimSpace(string(output)), nil
}
