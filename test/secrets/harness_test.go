// Package secrets looks for values of Secrets in everything that people see: logs, statuses, events,
// metrics and the screens of the command line.
package secrets

import (
	"os"
	"testing"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

const waitLimit = scenario.WaitLimit

// env is the lab that all scenarios share. Its registry has authentication and TLS.
var env = &scenario.World{}

// The words of scenarios.
var (
	newInstallation = landscape.NewInstallation
	startServer     = scenario.StartServer
	packed          = scenario.Packed

	namespace         = env.Namespace
	createTarget      = env.CreateTarget
	create            = env.Create
	createAll         = env.CreateAll
	repositoryContext = scenario.RepositoryContext
	request           = env.Request
	waitSucceeded     = env.WaitSucceeded
	waitForContext    = env.WaitForContext
	cli               = env.CLI
	planned           = env.Planned
)

func TestMain(m *testing.M) {
	os.Exit(env.Main(m, lab.Options{With: []string{"registry-auth", "registry-tls", "kwok=target"}, KwokNodes: 1}))
}
