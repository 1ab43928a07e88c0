// Command controlplane is etcd, kube-apiserver and kube-controller-manager in one
// program. The programs share most of their code, so one link and one page cache
// serve all of them. Which one runs is decided by the name the program is called
// under (a symbolic link), or by the first argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

// programs maps a name to the program's entry point, which returns an exit code.
var programs = map[string]func(args []string) int{
	"etcd":                    runEtcd,
	"kube-apiserver":          kubernetes(apiserver.NewAPIServerCommand),
	"kube-controller-manager": kubernetes(controllermanager.NewControllerManagerCommand),
}

func main() {
	args := append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...)
	run, found := programs[args[0]]
	if !found && len(args) > 1 {
		args = args[1:]
		run, found = programs[args[0]]
	}
	if !found {
		fmt.Fprintln(os.Stderr, "usage: controlplane etcd|kube-apiserver|kube-controller-manager [flags]")
		os.Exit(2)
	}
	os.Exit(run(args))
}

// walSegment is the size in which etcd reserves disk for its log. The default of
// 64 MB, two at a time, is most of what a small cluster would occupy.
const walSegment = 4 << 20

func runEtcd(args []string) int {
	wal.SegmentSizeBytes = walSegment
	etcdmain.Main(args)
	return 0
}

// kubernetes runs one of the cobra commands of Kubernetes, which read os.Args.
func kubernetes(command func() *cobra.Command) func(args []string) int {
	return func(args []string) int {
		os.Args = args
		return cli.Run(command())
	}
}
