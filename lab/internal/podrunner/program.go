package podrunner

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/lab/internal/tools"
)

// Program is a program that is run for pods, known by the last part of its
// image's name.
type Program struct {
	Name string
	Tool tools.Tool
	// Serves says that it offers artifacts over HTTP.
	Serves bool
	// image says that it is what an image of the lab's registry has.
	image bool
}

var programs = []Program{
	{Name: "source-controller", Tool: tools.SourceController, Serves: true},
	{Name: "kustomize-controller", Tool: tools.KustomizeController},
}

// Programs are the names of the programs.
func Programs() []string {
	var names []string
	for _, program := range programs {
		names = append(names, program.Name)
	}
	return names
}

// Prepared is what a host has set aside for a pod's process.
type Prepared struct {
	Directory string
	Metrics   string
	Health    string
	Storage   string
	// API is the address of the API server, and Port sets a port of this machine aside.
	API  string
	Port func() (string, error)
}

// flags are the arguments that must differ from those of the pod: on one
// machine, ports and paths are shared.
func (p Prepared) flags(program Program) map[string]string {
	flags := map[string]string{
		"metrics-addr": p.Metrics,
		"health-addr":  p.Health,
		"events-addr":  "", // the notification controller is no process here
		// A leader elects itself in the namespace that a pod's file system names,
		// which a process does not have. With one replica there is nothing to elect.
		"enable-leader-election": "false",
	}
	if program.Serves {
		flags["storage-path"] = p.Directory + "/storage"
		flags["storage-addr"] = p.Storage
		flags["storage-adv-addr"] = p.Storage
	}
	return flags
}

// prepare turns a pod into a command.
func (r *Runner) prepare(ctx context.Context, pod *corev1.Pod, program Program, container corev1.Container, report func(State)) (Run, error) {
	prepared, err := r.Prepare(pod, program)
	if err != nil {
		return Run{}, err
	}
	if program.image {
		return r.awaitImage(ctx, pod, program, container, prepared, report)
	}
	token, err := r.token(ctx, pod)
	if err != nil {
		return Run{}, err
	}
	mounts, err := r.mount(ctx, pod, container, prepared.Directory)
	if err != nil {
		return Run{}, err
	}
	env := environment(pod, container)
	for name, value := range env {
		env[name] = mounts.local(value)
	}
	return Run{
		Program: program, Health: prepared.Health, Token: token,
		Args: arguments(container, env, prepared.flags(program)),
		Env:  pairs(env),
	}, nil
}

// token is that of the pod's service account, unless the pod does not want it.
func (r *Runner) token(ctx context.Context, pod *corev1.Pod) (string, error) {
	if wanted := pod.Spec.AutomountServiceAccountToken; wanted != nil && !*wanted {
		return "", nil
	}
	return r.tokenFor(ctx, pod, nil)
}

// environment is what the container asks for, as far as it can be known, and
// the namespace, which the programs want to know in any case.
func environment(pod *corev1.Pod, container corev1.Container) map[string]string {
	env := map[string]string{"RUNTIME_NAMESPACE": pod.Namespace}
	for _, variable := range container.Env {
		if variable.ValueFrom == nil {
			env[variable.Name] = expand(variable.Value, env)
			continue
		}
		if field := variable.ValueFrom.FieldRef; field != nil {
			env[variable.Name] = fields(pod)[field.FieldPath]
		}
	}
	return env
}

// arguments are the container's, with some flags replaced.
func arguments(container corev1.Container, env map[string]string, replaced map[string]string) []string {
	var args []string
	given := container.Args
	for i := 0; i < len(given); i++ {
		flag, isFlag := strings.CutPrefix(given[i], "-")
		name, _, hasValue := strings.Cut(strings.TrimPrefix(flag, "-"), "=")
		if _, ours := replaced[name]; !isFlag || !ours {
			args = append(args, expand(given[i], env))
			continue
		}
		if !hasValue && i+1 < len(given) && !strings.HasPrefix(given[i+1], "-") {
			i++ // its value is the next argument
		}
	}
	for name, value := range replaced {
		args = append(args, "--"+name+"="+value)
	}
	slices.Sort(args[len(args)-len(replaced):])
	return args
}

// expand replaces $(NAME), as Kubernetes does in arguments.
func expand(text string, env map[string]string) string {
	for name, value := range env {
		text = strings.ReplaceAll(text, "$("+name+")", value)
	}
	return text
}

func pairs(env map[string]string) []string {
	var pairs []string
	for name, value := range env {
		pairs = append(pairs, name+"="+value)
	}
	slices.Sort(pairs)
	return pairs
}
