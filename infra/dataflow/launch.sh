#!/bin/sh
# Runs a command on Google Cloud Dataflow: builds what is needed, turns a few short flags into Beam's, prints
# the whole command line and runs it. README.md beside this file explains the flags.
set -eu

usage() {
	cat >&2 <<'END'
usage: infra/dataflow/launch.sh COMMAND --project PROJECT --region REGION --bucket gs://BUCKET/FOLDER [flags]

  COMMAND              preprocess, distances, bundle, train, score, ask, discover or messages
  --bucket URL         workspace, and below it staging/ for the workers' program
  --machine TYPE       machine type of the workers (n2-standard-4)
  --workers N          workers at most; the job starts with as many (1)
  --disk GB            boot disk of a worker (50)
  --accelerator TYPE   a GPU for each worker, such as nvidia-tesla-t4: train and score with --device cuda
  --image IMAGE        the workers' image; default is Beam's
  --dry_run            print the job and submit nothing
  others               flags of the command and of Beam, passed on as they are, as is all after --:
                       train ... --workers 4 -- --workers 4 trains one model by 4 workers on 4 machines

TAGNET_BIN names a folder with the built commands and worker; without it they are built into bin/.
END
	exit 2
}

fail() {
	echo "launch.sh: $*" >&2
	exit 2
}

command=${1:-}
case $command in
preprocess | distances | bundle | train | score | ask | discover | messages) shift ;;
-h | --help | '') usage ;;
*) fail "$command is not a command that runs on Dataflow: want preprocess, distances, bundle, train, score, ask, discover or messages" ;;
esac

bucket='' machine=n2-standard-4 workers=1 disk=50 accelerator='' image=''
count=$#
while [ "$count" -gt 0 ]; do # flags that are not the script's go to the end of the list
	word=$1
	shift
	count=$((count - 1))
	case $word in
	--bucket=* | --machine=* | --workers=* | --disk=* | --accelerator=* | --image=*) name=${word%%=*} value=${word#*=} ;;
	--bucket | --machine | --workers | --disk | --accelerator | --image)
		[ "$count" -gt 0 ] || fail "$word needs a value"
		name=$word value=$1
		shift
		count=$((count - 1))
		;;
	-h | --help) usage ;;
	--) # train has a flag --workers of its own
		while [ "$count" -gt 0 ]; do
			set -- "$@" "$1"
			shift
			count=$((count - 1))
		done
		continue
		;;
	*)
		set -- "$@" "$word"
		continue
		;;
	esac
	case $name in
	--bucket) bucket=${value%/} ;;
	--machine) machine=$value ;;
	--workers) workers=$value ;;
	--disk) disk=$value ;;
	--accelerator) accelerator=$value ;;
	--image) image=$value ;;
	esac
done
case $bucket in
gs://?*) ;;
*) fail "--bucket is '$bucket': want gs://BUCKET/FOLDER, the workspace of the job" ;;
esac

# Workers that use a GPU run the command's own program, since the common worker is built without CUDA.
worker=worker
[ -z "$accelerator" ] || worker=$command
if [ -n "${TAGNET_BIN:-}" ]; then
	bin=$TAGNET_BIN program=$TAGNET_BIN/$worker
else
	cd "$(dirname "$0")/../.."
	bin=bin program=bin/dataflow/$worker
	package=./pipelines/$command
	[ -n "$accelerator" ] || package=./infra/worker
	go build -trimpath -o "$bin/" "./pipelines/$command"
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build -trimpath -buildvcs=false -ldflags='-s -w' -o "$program" "$package"
fi

[ -z "$accelerator" ] || set -- "--dataflow_service_options=worker_accelerator=type:$accelerator;count:1;install-nvidia-driver" "$@"
[ -z "$image" ] || set -- "--sdk_container_image=$image" "$@"
set -- --runner=dataflow "--workspace=$bucket" "--staging_location=$bucket/staging" "--worker_binary=$program" \
	"--worker_machine_type=$machine" "--disk_size_gb=$disk" "--num_workers=$workers" "--max_num_workers=$workers" "$@"
echo "+ $bin/$command $*" >&2
exec "$bin/$command" "$@"
